"""`graphlint verify`: the real compiler confirms or refutes each finding.

Two halves that meet only in files and one socket:

- this package, the parent: plans tries, starts and stops workers, reads what they wrote, gives verdicts. It
never
  imports MindSpore or the user's code;
- `graphlint.verify.worker`, the children: the only code of graphlint that imports MindSpore and the user's
modules.
  It needs nothing but the standard library, NumPy and MindSpore, so that one graphlint can drive the
  interpreters of several MindSpore versions.
"""
