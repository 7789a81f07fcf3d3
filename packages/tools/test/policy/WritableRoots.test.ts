import { assert, describe, it } from "@effect/vitest"
import { isWritable, type Places, writableRoots } from "../../src/policy/WritableRoots.ts"

const places: Places = {
  cwd: "/work/project",
  tmpdir: "/var/tmp/me",
  slashTmpIsDirectory: true,
  protectedPaths: ["/work/project/.state", "/elsewhere/auth.json"],
}

const write = (policy: object = {}, more: Partial<Places> = {}) =>
  writableRoots({ mode: "workspace-write", ...policy }, { ...places, ...more })

const names = (...args: Parameters<typeof write>): ReadonlyArray<string> => {
  const writable = write(...args)
  return writable._tag === "Roots" ? writable.roots.map(({ root }) => root) : ["everything"]
}

describe("WritableRoots", () => {
  it("confines nothing under full access and an external sandbox, and allows no writes under read-only", () => {
    for (const mode of ["danger-full-access", "external-sandbox"] as const) {
      const writable = writableRoots({ mode }, places)
      assert.deepStrictEqual(writable, { _tag: "Everything" })
      assert.isTrue(isWritable(writable, "/work/project/.git/config"))
    }
    const none = writableRoots({ mode: "read-only" }, places)
    assert.deepStrictEqual(none, { _tag: "Roots", roots: [] })
    assert.isFalse(isWritable(none, "/work/project/a"))
  })

  it("joins cwd, configured roots, /tmp and $TMPDIR, each once, with the read-only paths in them", () => {
    assert.deepStrictEqual(write({ writable_roots: ["/extra/", "sub/..", "/tmp", ""] }), {
      _tag: "Roots",
      roots: [
        {
          root: "/work/project",
          readOnly: ["/work/project/.git", "/work/project/.state"],
        },
        { root: "/extra", readOnly: ["/extra/.git"] },
        { root: "/tmp", readOnly: ["/tmp/.git"] },
        { root: "/var/tmp/me", readOnly: ["/var/tmp/me/.git"] },
      ],
    })
  })

  it("leaves out paths that are excluded, missing or not absolute", () => {
    assert.deepStrictEqual(names({ exclude_slash_tmp: true }), ["/work/project", "/var/tmp/me"])
    assert.deepStrictEqual(names({ exclude_tmpdir_env_var: true }), ["/work/project", "/tmp"])
    assert.deepStrictEqual(names({}, { slashTmpIsDirectory: false }), [
      "/work/project",
      "/var/tmp/me",
    ])
    for (const tmpdir of ["", "tmp", "../tmp"]) {
      assert.deepStrictEqual(names({}, { tmpdir }), ["/work/project", "/tmp"])
    }
  })

  const cases: ReadonlyArray<readonly [path: string, writable: boolean]> = [
    ["/work/project", true],
    ["/work/project/a", true],
    ["/work/project/deep/er/a", true],
    ["/work/project/../project/a", true],
    ["/work/project/./a//b", true],
    ["/tmp/a", true],
    ["/var/tmp/me/a", true],
    ["/work/project/.gitignore", true],
    ["/work/project/.github/x", true],
    ["/work/project/.statement", true],
    ["/work", false],
    ["/work/projects/a", false],
    ["/work/project2", false],
    ["/work/project/../a", false],
    ["/work/project/a/../../../etc/passwd", false],
    ["/tmp/../etc/passwd", false],
    ["/var/tmp/a", false],
    ["/etc/passwd", false],
    ["/", false],
    ["", false],
    ["a", false],
    ["../project/a", false],
    ["work/project/a", false],
    ["/work/project/a\0b", false],
    ["/work/project/.git", false],
    ["/work/project/.git/hooks/pre-commit", false],
    ["/work/project/a/../.git/config", false],
    ["/work/project/.GIT/config", false],
    ["/work/project/sub/.git/hooks/x", false],
    ["/tmp/.git/config", false],
    ["/tmp/repo/.git/config", false],
    ["/work/project/.state", false],
    ["/work/project/.state/log", false],
    ["/work/project/.State/log", false],
    ["/elsewhere/auth.json", false],
  ]

  it("treats a path at or below a root as writable, `..` literally, and never a protected one", () => {
    const writable = write()
    for (const [path, expected] of cases) {
      assert.strictEqual(isWritable(writable, path), expected, JSON.stringify(path))
    }
  })

  it("a protected path stays protected whichever root contains it", () => {
    const writable = write({
      writable_roots: ["/work/project/.git", "/work/project/.state/deep", "/"],
    })
    for (const [path, expected] of cases) {
      if (!expected && /git|tate/.test(path) && path.startsWith("/work/project/")) {
        assert.isFalse(isWritable(writable, path), path)
      }
    }
    assert.isFalse(isWritable(writable, "/work/project/.state/deep/a"))
    assert.isFalse(isWritable(writable, "/elsewhere/auth.json"))
    assert.isTrue(isWritable(writable, "/etc/passwd"))
  })

  it("nothing is writable in a workspace inside a protected path", () => {
    const writable = write({ exclude_slash_tmp: true }, { protectedPaths: ["/work"] })
    assert.isFalse(isWritable(writable, "/work/project/a"))
    assert.isTrue(isWritable(writable, "/var/tmp/me/a"))
  })
})
