/** Tests placeholder directories that are created while another process replaces the directories above them. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { execFileSync, spawn } from "node:child_process"
import * as Fs from "node:fs"
import { Watchdog } from "../../src/process/Watchdog.ts"
import { placeholder } from "../../src/sandbox/Placeholders.ts"

const isLinux = process.platform === "linux"

const place = Effect.fnUntraced(function* () {
  const fs = yield* FileSystem.FileSystem
  const base = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
  for (const name of ["real", "elsewhere"]) yield* fs.makeDirectory(`${base}/${name}`)
  return base
})

const everythingIn = (directory: string): ReadonlyArray<string> =>
  Fs.readdirSync(directory, { recursive: true, encoding: "utf8" })

const live = Layer.provideMerge(Watchdog.layer, NodeServices.layer)

/** Exchanges `real` with the link `link` until it is killed; reports when it has started. */
const exchanging = `
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def swap():
    assert libc.renameat2(-100, b"real", -100, b"link", 2) == 0
swap()
print("up", flush=True)
while True: swap()
`

const swapping = (base: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const child = spawn("python3", ["-c", exchanging], {
        cwd: base,
        stdio: ["ignore", "pipe", "inherit"],
      })
      await new Promise((resolve) => child.stdout.once("data", resolve))
      return child
    }),
    (child) =>
      Effect.promise(
        () =>
          new Promise((resolve) => {
            child.once("exit", resolve)
            child.kill("SIGKILL")
          }),
      ),
  )

describe.skipIf(!isLinux)("Placeholders", () => {
  it.live("L15 a placeholder exists while its scope is open, and nothing is left of it", () =>
    Effect.gen(function* () {
      const base = yield* place()
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* placeholder(`${base}/real/.git`)
          yield* placeholder(`${base}/real/.git`)
          assert.lengthOf(Fs.readdirSync(`${base}/real/.git`), 2)
        }),
      )
      assert.deepStrictEqual(everythingIn(base).toSorted(), ["elsewhere", "real"])
    }).pipe(Effect.scoped, Effect.provide(live)),
  )

  for (const [name, prepare, directory] of [
    ["its parent", "mv real moved && ln -s elsewhere real", "real/.git"],
    ["a directory above its parent", "mkdir elsewhere/a && ln -s elsewhere link", "link/a/.git"],
    ["the directory itself", "ln -s ../elsewhere real/.git", "real/.git"],
  ] as const) {
    it.live(`L15 no placeholder is made through a link that replaced ${name}`, () =>
      Effect.gen(function* () {
        const base = yield* place()
        execFileSync("bash", ["-ec", prepare], { cwd: base })
        const before = everythingIn(base)
        const error = yield* Effect.flip(Effect.scoped(placeholder(`${base}/${directory}`)))
        assert.strictEqual(error.reason, "Sandbox")
        assert.deepStrictEqual(everythingIn(base), before)
        // For control: the path does lead to a directory in which one could be created.
        Fs.mkdirSync(`${base}/${directory}/x`, { recursive: true })
        assert.include(everythingIn(`${base}/elsewhere`).join(" "), "x")
      }).pipe(Effect.scoped, Effect.provide(live)),
    )
  }

  it.live("L15 nothing is left of a placeholder whose parent is moved while it is used", () =>
    Effect.gen(function* () {
      const base = yield* place()
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* placeholder(`${base}/real/.git`)
          Fs.renameSync(`${base}/real`, `${base}/moved`)
          Fs.symlinkSync("elsewhere", `${base}/real`)
          assert.lengthOf(Fs.readdirSync(`${base}/moved/.git`), 1)
        }),
      )
      assert.deepStrictEqual(everythingIn(base).toSorted(), ["elsewhere", "moved", "real"])
    }).pipe(Effect.scoped, Effect.provide(live)),
  )

  it.live(
    "L15 no placeholder reaches a directory through a link that is exchanged all the time",
    () =>
      Effect.gen(function* () {
        const base = yield* place()
        // A watched directory: a file that is created and removed again changes its modification time.
        Fs.symlinkSync("elsewhere", `${base}/link`)
        const before = Fs.statSync(`${base}/elsewhere`, { bigint: true }).mtimeNs
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* swapping(base)
            let made = 0
            for (let round = 0; round < 2000; round++) {
              const result = yield* Effect.exit(Effect.scoped(placeholder(`${base}/real/.git`)))
              if (result._tag === "Success") made++
            }
            assert.isAbove(made, 0, "the race is sometimes won")
            assert.isBelow(made, 2000, "and sometimes lost")
          }),
        )
        assert.strictEqual(Fs.statSync(`${base}/elsewhere`, { bigint: true }).mtimeNs, before)
        assert.deepStrictEqual(everythingIn(base).toSorted(), ["elsewhere", "link", "real"])
      }).pipe(Effect.scoped, Effect.provide(live)),
  )
})
