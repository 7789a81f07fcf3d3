import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterAll } from "vitest"
import type { Operation } from "../../src/patch/Operation.ts"
import * as PatchProcess from "../../src/patch/PatchProcess.ts"

const bwrap = "bwrap"
const hasBwrap = spawnSync(bwrap, ["--version"]).status === 0
if (!hasBwrap) process.stderr.write("bubblewrap is missing: apt-get install bubblewrap\n")

const base = Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "patch-sandbox-")))
afterAll(() => Fs.rmSync(base, { recursive: true, force: true }))
const workspace = Path.join(base, "work")
const outside = Path.join(base, "outside")
Fs.mkdirSync(Path.join(workspace, ".git"), { recursive: true })
Fs.mkdirSync(outside)
Fs.symlinkSync("../outside", Path.join(workspace, "link"))

const git = Path.join(workspace, ".git")
const mounts = `--ro-bind / / --dev /dev --proc /proc --bind ${workspace} ${workspace} --ro-bind ${git} ${git} --unshare-all --cap-drop ALL --die-with-parent --`

const add = (path: string): Operation => ({
  _tag: "Write",
  kind: "Add",
  path,
  before: { _tag: "Missing" },
  content: "x\n",
})

/** The program may write anywhere: only the mounts restrict it. */
const run = (path: string, isConfined: boolean): PatchProcess.Applied => {
  const scope = { within: undefined, keepOut: [] }
  const launch = PatchProcess.launch(
    process.execPath,
    workspace,
    { operations: [add(path)] },
    scope,
  )
  const [file, ...args] = isConfined
    ? ([bwrap, ...mounts.split(" "), ...launch.argv] as const)
    : launch.argv
  const env = isConfined ? { PATH: process.env["PATH"] } : launch.env
  const { stdout } = spawnSync(file, args, { cwd: launch.cwd, env, input: launch.stdin })
  return PatchProcess.read(stdout.toString())
}

describe.skipIf(!hasBwrap)("PatchProgram in a sandbox", () => {
  it("writes where the sandbox allows it", () => {
    const path = Path.join(workspace, "new/file")
    assert.deepStrictEqual(run(path, true), { done: 1, error: undefined })
    assert.strictEqual(Fs.readFileSync(path, "utf8"), "x\n")
  })

  for (const [name, path, real] of [
    ["through a linked directory", "link/a", "a"],
    ["by ..", "../outside/b", "b"],
    ["into .git", ".git/c", "../work/.git/c"],
  ] as const) {
    it(`L15 writes nothing ${name}, and would without the sandbox`, () => {
      const file = Path.join(outside, real)
      const refused = run(Path.join(workspace, path), true)
      assert.strictEqual(refused.done, 0)
      assert.match(refused.error ?? "", /^Failed to write file .*\nCaused by: EROFS/)
      assert.isFalse(Fs.existsSync(file))
      assert.deepStrictEqual(run(Path.join(workspace, path), false), { done: 1, error: undefined })
      assert.isTrue(Fs.existsSync(file))
    })
  }
})
