import { assert, describe, it } from "@effect/vitest"
import type { ProtectedPath } from "../../../src/sandbox/ProtectedPath.ts"
import { isWithin } from "../../../src/sandbox/PathContainment.ts"
import {
  boundRoots,
  bubblewrapOptions,
  bubblewrapArgv,
  type BubblewrapOptions,
} from "../../../src/sandbox/linux/BubblewrapArgv.ts"

const plain: BubblewrapOptions = {
  bwrap: "/usr/bin/bwrap",
  argv: ["true"],
  cwd: "/w",
  writableRoots: [],
  protectedPaths: [],
  network: false,
  variables: {},
  seccompFd: 3,
  statusFd: 4,
}

/** Only the mounts, one per line, without the fixed ones around them. */
const mounts = (
  writableRoots: ReadonlyArray<string>,
  protectedPaths: ReadonlyArray<ProtectedPath> = [],
): ReadonlyArray<string> => {
  const argv = bubblewrapArgv({ ...plain, writableRoots, protectedPaths })
  const words = argv.slice(argv.indexOf("--proc") + 2, argv.indexOf("--unshare-user"))
  return words
    .join(" ")
    .split(/ (?=--(?!tmpfs))/)
    .map((mount) => mount.trim())
}

const readOnly = (path: string): ProtectedPath => ({ path, kind: "readOnly" })

describe("BubblewrapArgv", () => {
  it("L15 confines everything, network and capabilities included, in a read-only sandbox", () => {
    assert.deepStrictEqual(
      bubblewrapArgv(plain).join(" "),
      "/usr/bin/bwrap --new-session --die-with-parent --ro-bind / / --dev /dev --proc /proc --remount-ro /proc " +
        "--unshare-user --unshare-pid --unshare-ipc --unshare-net --cap-drop ALL --disable-userns --chdir /w " +
        "--seccomp 3 --json-status-fd 4 -- true",
    )
  })

  it("keeps the network of the host only where it is allowed, and the filter also then", () => {
    const argv = bubblewrapArgv({ ...plain, network: true })
    assert.notInclude(argv, "--unshare-net")
    assert.include(argv, "--seccomp")
  })

  it("sets variables that would affect bubblewrap inside, before the program", () => {
    const argv = bubblewrapArgv({ ...plain, variables: { LD_PRELOAD: "/w/x.so" } })
    assert.include(argv.join(" "), "--setenv LD_PRELOAD /w/x.so --chdir")
  })

  it("passes the words of the program as words, after the options", () => {
    const argv = bubblewrapArgv({ ...plain, argv: ["--bind", "/", "/"] })
    assert.deepStrictEqual(argv.slice(-4), ["--", "--bind", "/", "/"])
  })

  it("L15 links the launcher into the /dev of the sandbox, and nothing without one", () => {
    const base = {
      cwd: "/w",
      writableRoots: ["/w"],
      protectedPaths: [],
      network: false,
      variables: {},
    }
    const options = (more: object) =>
      bubblewrapOptions({ ...base, seccompFd: 3, statusFd: 4, ...more }).join(" ")
    assert.include(
      options({ launcher: "/usr/bin/setpriv" }),
      "--dev /dev --symlink /usr/bin/setpriv /dev/colloquy-launch --proc /proc",
    )
    assert.notInclude(options({}), "--symlink")
    assert.deepStrictEqual(boundRoots(["/", "/proc/x", "/sys", "/dev", "/dev/shm/a", "/w"]), [
      "/dev/shm/a",
      "/w",
    ])
  })

  const table: ReadonlyArray<
    readonly [string, ReadonlyArray<string>, ReadonlyArray<ProtectedPath>, ReadonlyArray<string>]
  > = [
    [
      "roots from the outside in, whatever their order, each once",
      ["/w/sub", "/w", "/w"],
      [readOnly("/w/.git"), readOnly("/w/sub/.git")],
      [
        "--bind /w /w",
        "--bind /w/sub /w/sub",
        "--ro-bind /w/.git /w/.git",
        "--ro-bind /w/sub/.git /w/sub/.git",
        "--remount-ro /proc",
      ],
    ],
    [
      "a missing path as an empty directory, read-only last",
      ["/w"],
      [{ path: "/w/.git", kind: "empty" }],
      [
        "--bind /w /w",
        "--perms 0555 --tmpfs /w/.git",
        "--remount-ro /w/.git",
        "--remount-ro /proc",
      ],
    ],
    [
      "directories above a protected path as separate mount points, so that they can't be renamed",
      ["/w"],
      [{ path: "/w/a/b/state", kind: "hiddenDirectory" }],
      [
        "--bind /w /w",
        "--bind /w/a /w/a",
        "--bind /w/a/b /w/a/b",
        "--perms 0555 --tmpfs /w/a/b/state",
        "--remount-ro /w/a/b/state",
        "--remount-ro /proc",
      ],
    ],
    [
      "directories above a nested root as mount points, each once, the outer one first",
      ["/w/a/b/r", "/w"],
      [readOnly("/w/a/b/r/.git"), readOnly("/w/.git")],
      [
        "--bind /w /w",
        "--bind /w/a /w/a",
        "--ro-bind /w/.git /w/.git",
        "--bind /w/a/b /w/a/b",
        "--bind /w/a/b/r /w/a/b/r",
        "--ro-bind /w/a/b/r/.git /w/a/b/r/.git",
        "--remount-ro /proc",
      ],
    ],
    [
      "no pin above a nested root in a directory that is hidden",
      ["/w", "/w/a/b/r"],
      [{ path: "/w/a", kind: "hiddenDirectory" }, readOnly("/w/a/b/r/c/state")],
      [
        "--bind /w /w",
        "--perms 0555 --tmpfs /w/a",
        "--bind /w/a/b/r /w/a/b/r",
        "--bind /w/a/b/r/c /w/a/b/r/c",
        "--ro-bind /w/a/b/r/c/state /w/a/b/r/c/state",
        "--remount-ro /w/a",
        "--remount-ro /proc",
      ],
    ],
    [
      "no pin in the sandbox's own /dev under a root of /",
      ["/", "/dev/shm/x"],
      [],
      ["--bind /dev/shm/x /dev/shm/x", "--remount-ro /proc"],
    ],
    [
      "no pin in what is guarded as a whole: it would open that again",
      ["/w"],
      [readOnly("/w/.git"), readOnly("/w/.git/worktrees/a")],
      [
        "--bind /w /w",
        "--ro-bind /w/.git /w/.git",
        "--ro-bind /w/.git/worktrees/a /w/.git/worktrees/a",
        "--remount-ro /proc",
      ],
    ],
    [
      "a protected path over the root of the same path",
      ["/w"],
      [{ path: "/w", kind: "hiddenDirectory" }],
      ["--bind /w /w", "--perms 0555 --tmpfs /w", "--remount-ro /w", "--remount-ro /proc"],
    ],
    [
      "a frozen directory read-only, its entries not",
      ["/w"],
      [{ path: "/w", kind: "frozen", entries: ["/w/src", "/w/real"] }, readOnly("/w/real")],
      [
        "--bind /w /w",
        "--ro-bind /w /w",
        "--bind /w/src /w/src",
        "--bind /w/real /w/real",
        "--ro-bind /w/real /w/real",
        "--remount-ro /proc",
      ],
    ],
    [
      "a secret file as nothing, also outside of any root",
      [],
      [{ path: "/home/keys", kind: "hiddenFile" }],
      ["--ro-bind /dev/null /home/keys", "--remount-ro /proc"],
    ],
    [
      "no root in what is the sandbox's own",
      ["/proc/sys", "/sys", "/dev", "/dev/shm", "/devices"],
      [],
      ["--bind /devices /devices", "--bind /dev/shm /dev/shm", "--remount-ro /proc"],
    ],
  ]
  for (const [name, roots, protectedPaths, expected] of table) {
    it(`L15 mounts ${name}`, () => {
      assert.deepStrictEqual(mounts(roots, protectedPaths), expected)
    })
  }

  it("L15 a root of / keeps /sys, /proc and /dev closed, and pins the parents of a protected path", () => {
    const argv = bubblewrapArgv({
      ...plain,
      writableRoots: ["/"],
      protectedPaths: [{ path: "/home/u/.colloquy", kind: "hiddenDirectory" }],
    }).join(" ")
    assert.include(
      argv,
      "--bind / / --ro-bind /sys /sys --dev /dev --proc /proc --bind /home /home --bind /home/u /home/u " +
        "--perms 0555 --tmpfs /home/u/.colloquy --remount-ro /home/u/.colloquy --remount-ro /proc",
    )
  })

  it("finds the paths in a directory by whole names", () => {
    assert.deepStrictEqual(
      [isWithin("/w/a", "/w"), isWithin("/w", "/w"), isWithin("/wa", "/w"), isWithin("/a", "/")],
      [true, true, false, true],
    )
  })
})
