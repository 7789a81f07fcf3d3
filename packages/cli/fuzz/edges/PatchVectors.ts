/** Patches with the files they apply to, from `packages/tools/test/fixtures/apply-patch-vectors.json`. Data only. */

/** Contents of files by path, and a patch for them; some patches do not apply. */
export const vectors: ReadonlyArray<{
  readonly input: Readonly<Record<string, string>>
  readonly patch: string
}> = [
  {
    input: { "modify.txt": "line1\nline2\n", "delete.txt": "obsolete\n" },
    patch:
      "*** Begin Patch\n*** Add File: nested/new.txt\n+created\n*** Delete File: delete.txt\n*** Update File: modify.txt\n@@\n-line2\n+changed\n*** End Patch",
  },
  {
    input: { "multi.txt": "line1\nline2\nline3\nline4\n" },
    patch:
      "*** Begin Patch\n*** Update File: multi.txt\n@@\n-line2\n+changed2\n@@\n-line4\n+changed4\n*** End Patch",
  },
  {
    input: { "old/name.txt": "old content\n", "old/other.txt": "unrelated\n" },
    patch:
      "*** Begin Patch\n*** Update File: old/name.txt\n*** Move to: renamed/dir/name.txt\n@@\n-old content\n+new content\n*** End Patch",
  },
  { input: { "foo.txt": "stable\n" }, patch: "*** Begin Patch\n*** End Patch" },
  {
    input: { "foo.txt": "stable\n" },
    patch: "*** Begin Patch\n*** Update File: foo.txt\n*** End Patch",
  },
  {
    input: { "old/name.txt": "from\n", "renamed/dir/name.txt": "existing\n" },
    patch:
      "*** Begin Patch\n*** Update File: old/name.txt\n*** Move to: renamed/dir/name.txt\n@@\n-from\n+new\n*** End Patch",
  },
  {
    input: { "duplicate.txt": "old content\n" },
    patch: "*** Begin Patch\n*** Add File: duplicate.txt\n+new content\n*** End Patch",
  },
  {
    input: { "foo.txt": "stable\n" },
    patch: "*** Begin Patch\n*** Frobnicate File: foo\n*** End Patch",
  },
  {
    input: { "no_newline.txt": "no newline at end" },
    patch:
      "*** Begin Patch\n*** Update File: no_newline.txt\n@@\n-no newline at end\n+first line\n+second line\n*** End Patch",
  },
  {
    input: {},
    patch:
      "*** Begin Patch\n*** Add File: created.txt\n+hello\n*** Update File: missing.txt\n@@\n-old\n+new\n*** End Patch",
  },
  {
    input: { "input.txt": "line1\nline2\n" },
    patch:
      "*** Begin Patch\n*** Update File: input.txt\n@@\n+added line 1\n+added line 2\n*** End Patch",
  },
  {
    input: { "foo.txt": "old\n" },
    patch: "*** Begin Patch\n  *** Update File: foo.txt\n@@\n-old\n+new\n*** End Patch",
  },
  {
    input: { "file.txt": "one\n" },
    patch: " *** Begin Patch\n*** Update File: file.txt\n@@\n-one\n+two\n*** End Patch ",
  },
  {
    input: { "keep.txt": "keep\n", "obsolete.txt": "x\n" },
    patch: "*** Begin Patch\n*** Delete File: obsolete.txt\n*** End Patch",
  },
  {
    input: { "lines.txt": "line1\nline2\nline3\n" },
    patch: "*** Begin Patch\n*** Update File: lines.txt\n@@\n line1\n-line2\n line3\n*** End Patch",
  },
  {
    input: { "tail.txt": "first\nsecond\n" },
    patch:
      "*** Begin Patch\n*** Update File: tail.txt\n@@\n first\n-second\n+second updated\n*** End of File\n*** End Patch",
  },
  {
    input: { "n.txt": "one\r\ntwo" },
    patch: "*** Begin Patch\n*** Update File: n.txt\n@@\n-one\n+ONE\n*** End Patch",
  },
  {
    input: {
      "a.py":
        "class A:\n    def f(self):\n        x = 1\n\nclass B:\n    def f(self):\n        x = 1\n",
    },
    patch:
      "*** Begin Patch\n*** Update File: a.py\n@@ class B:\n     def f(self):\n-        x = 1\n+        x = 2\n*** End Patch",
  },
  {
    input: { "a.txt": "a\nb\n" },
    patch: "*** Begin Patch\n*** Update File: a.txt\n@@ nope\n-b\n+c\n*** End Patch",
  },
  {
    input: { "a.txt": "    foo\n    bar\n" },
    patch: "*** Begin Patch\n*** Update File: a.txt\n@@\n foo\n-bar\n+baz\n*** End Patch",
  },
  {
    input: { "a.txt": "x \u2013 \u201cq\u201d\nend\n" },
    patch: '*** Begin Patch\n*** Update File: a.txt\n@@\n-x - "q"\n+y\n*** End Patch',
  },
  {
    input: { "a.txt": "1\n2\n3\n4\n" },
    patch: "*** Begin Patch\n*** Update File: a.txt\n@@\n-4\n+four\n@@\n-1\n+one\n*** End Patch",
  },
  {
    input: { "a.txt": "end\nmid\nend\n" },
    patch:
      "*** Begin Patch\n*** Update File: a.txt\n@@\n-end\n+END\n*** End of File\n*** End Patch",
  },
  {
    input: { "a.txt": "end\nmid\ntail\n" },
    patch:
      "*** Begin Patch\n*** Update File: a.txt\n@@\n-end\n+END\n*** End of File\n*** End Patch",
  },
]
