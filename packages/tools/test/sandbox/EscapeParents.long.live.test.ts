/**
 * Replacing what is guarded in a nested writable root by renaming a directory above it, tried in the sandbox and, for
 * control, in the same sandbox without the mounts that pin such directories.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import type { ConfiningPolicy } from "../../src/sandbox/Sandbox.ts"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import {
  type TestDirectories,
  makeDirectories,
  runConfinedWithoutPins,
  runUnconfined,
  workspaceWrite,
} from "./Fixture.ts"

const hasBwrap = Fs.existsSync("/usr/bin/bwrap")
if (!hasBwrap) process.stderr.write("bubblewrap is missing: apt-get install bubblewrap\n")

interface Case {
  readonly name: string
  /** Path of the workspace, below the base. */
  readonly workspace: string
  /** Further writable roots, below the base. */
  readonly roots: ReadonlyArray<string>
  /** Runs in the base directory before the attack, without a sandbox. */
  readonly setup: string
  readonly script: string
  /** Directories below the base whose pins the control leaves out. */
  readonly pins: ReadonlyArray<string>
  /** Runs in the base directory afterwards, without a sandbox; succeeds if the attack failed. */
  readonly isSafe: string
}

const repository = (at: string): string => `git init -q ${at}`
const plant = (at: string): string =>
  `printf '[core]\\n\\tfsmonitor=touch MARK; false\\n' >> ${at}/.git/config`
const statusIsSafe = (at: string): string =>
  `(cd ${at} && git status >/dev/null 2>&1; test ! -e MARK)`

const cases: ReadonlyArray<Case> = [
  {
    name: "renames the parent of a workspace and plants settings in a copy",
    workspace: "x/par/proj",
    roots: ["."],
    setup: repository("x/par/proj"),
    script: `cd x && mv par par2 && mkdir par && cp -a par2/proj par/proj && ${plant("par/proj")}`,
    pins: ["x/par"],
    isSafe: statusIsSafe("x/par/proj"),
  },
  {
    name: "renames a directory two levels above a workspace",
    workspace: "x/par/proj",
    roots: ["."],
    setup: repository("x/par/proj"),
    script: `mv x x2 && mkdir -p x/par && cp -a x2/par/proj x/par/proj && ${plant("x/par/proj")}`,
    pins: ["x", "x/par"],
    isSafe: statusIsSafe("x/par/proj"),
  },
  {
    name: "renames the parent of a writable root in the workspace",
    workspace: "w",
    roots: ["w/sub/r"],
    setup: repository("w/sub/r"),
    script: "cd w && mv sub s2; mkdir -p sub/r/.git/hooks; echo x > sub/r/.git/hooks/pre-commit",
    pins: ["w/sub"],
    isSafe: "test ! -e w/sub/r/.git/hooks/pre-commit",
  },
  {
    name: "renames the parent of a writable root in which there is no .git",
    workspace: "w",
    roots: ["w/sub/r"],
    setup: "true",
    script: "cd w && mv sub s2; mkdir -p sub/r/.git/hooks && echo x > sub/r/.git/hooks/pre-commit",
    pins: ["w/sub"],
    isSafe: "test ! -e w/sub/r/.git",
  },
  {
    name: "renames the directory between three nested writable roots",
    workspace: "w",
    roots: ["w/a/r", "w/a/r/b/s"],
    setup: repository("w/a/r/b/s"),
    script: `cd w/a/r && mv b b2 && mkdir b && cp -a b2/s b/s && ${plant("b/s")}`,
    pins: ["w/a/r/b"],
    isSafe: statusIsSafe("w/a/r/b/s"),
  },
  {
    name: "replaces the workspace by a link to a directory elsewhere",
    workspace: "x/par/proj",
    roots: ["."],
    setup: repository("x/par/proj"),
    script: "cd x && mv par par2 && mkdir par && ln -sT /usr par/proj",
    pins: ["x/par"],
    isSafe: "test ! -L x/par/proj",
  },
]

const attempt = Effect.fnUntraced(function* (attack: Case, isPinned: boolean) {
  const fs = yield* FileSystem.FileSystem
  const plain = yield* makeDirectories()
  const at = (path: string): string => (path === "." ? plain.base : `${plain.base}/${path}`)
  for (const path of [attack.workspace, ...attack.roots]) {
    yield* fs.makeDirectory(at(path), { recursive: true })
  }
  const made: TestDirectories = { ...plain, workspace: at(attack.workspace) }
  const setup = yield* runUnconfined(made, { argv: ["bash", "-ec", attack.setup], cwd: made.base })
  assert.deepStrictEqual(setup.exit, { _tag: "Exited", code: 0 }, setup.stderr.text)
  const policy: ConfiningPolicy = { ...workspaceWrite, writable_roots: attack.roots.map(at) }
  const pins = isPinned ? [] : attack.pins.map(at)
  const { stderr, stdout } = yield* runConfinedWithoutPins(pins)(made, {
    argv: ["bash", "-c", `echo RAN; ${attack.script} && echo ESCAPED`],
    cwd: made.base,
    policy,
  })
  assert.match(stdout.text, /^RAN/, stderr.text)
  const verdict = execFileSync(
    "bash",
    ["-c", `if ${attack.isSafe}; then echo safe; else echo unsafe; fi`],
    { cwd: made.base, env: { PATH: "/usr/bin:/bin", HOME: made.base } },
  )
  return {
    escaped: stdout.text.includes("ESCAPED"),
    isSafe: verdict.toString().trim() === "safe",
    stderr: stderr.text,
  }
})

describe.skipIf(!hasBwrap)("EscapeParents", () => {
  for (const attack of cases) {
    it.live(`L15 refused in the sandbox: ${attack.name}`, () =>
      Effect.gen(function* () {
        const found = yield* attempt(attack, true)
        assert.deepInclude(found, { escaped: false, isSafe: true }, found.stderr)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    )
    it.live(`without the pins it gets through: ${attack.name}`, () =>
      Effect.gen(function* () {
        const found = yield* attempt(attack, false)
        assert.deepInclude(found, { escaped: true, isSafe: false }, found.stderr)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    )
  }
})
