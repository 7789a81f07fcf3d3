import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scheduler from "effect/Scheduler"
import * as Fs from "node:fs"
import { join } from "node:path"
import { pathCalls } from "../../src/sandbox/NodeFiles.ts"
import { TrustedPrograms } from "../../src/programs/TrustedPrograms.ts"

const name = "colloquy-trusted-program"

/** A directory that is not below the one for temporary files, where no program is trusted. */
const baseDirectory = Effect.acquireRelease(
  Effect.sync(() => {
    const base = Fs.realpathSync(Fs.mkdtempSync("/var/tmp/colloquy-trusted-"))
    for (const directory of ["workspace/bin", "machine", "links", "open"]) {
      Fs.mkdirSync(join(base, directory), { recursive: true })
    }
    return base
  }),
  (base) => Effect.sync(() => Fs.rmSync(base, { recursive: true })),
)

const program = (directory: string) =>
  Fs.writeFileSync(join(directory, name), "#!/bin/sh\n", { mode: 0o755 })

/** A scheduler that counts the operations of all fibers that use it. */
class CountingScheduler extends Scheduler.MixedScheduler {
  operations = 0
  override shouldYield(fiber: Parameters<Scheduler.MixedScheduler["shouldYield"]>[0]): boolean {
    this.operations++
    return super.shouldYield(fiber)
  }
}

const workspaceWrite = { mode: "workspace-write" } as const

/** Runs the effect with this PATH. Entries that are not absolute are below the base directory. */
const withPath = <A, E>(
  entries: ReadonlyArray<string>,
  test: (programs: TrustedPrograms["Service"], base: string) => Effect.Effect<A, E>,
) =>
  Effect.gen(function* () {
    const base = yield* baseDirectory
    const PATH = entries
      .map((entry) => (entry.startsWith("/") ? entry : join(base, entry)))
      .join(":")
    const programs = Layer.provide(
      TrustedPrograms.layer({ environment: { PATH } }),
      NodeServices.layer,
    )
    return yield* Effect.gen(function* () {
      return yield* test(yield* TrustedPrograms, base)
    }).pipe(Effect.provide(programs))
  }).pipe(Effect.scoped)

describe("TrustedPrograms", () => {
  it.live("returns the real path of a program that is reached through links", () =>
    withPath(["links"], (programs, base) =>
      Effect.gen(function* () {
        program(join(base, "machine"))
        Fs.symlinkSync("../machine", join(base, "links", "more"))
        Fs.symlinkSync(`more/${name}`, join(base, "links", name))
        assert.strictEqual(yield* programs.resolve(name), join(base, "machine", name))
      }),
    ),
  )

  it.live(
    "L15 skips one in a workspace of any conversation, and reports why when there is no other",
    () =>
      withPath(["workspace/bin", "machine"], (programs, base) =>
        Effect.gen(function* () {
          program(join(base, "workspace", "bin"))
          const workspace = join(base, "workspace")
          assert.strictEqual(yield* programs.resolve(name), join(workspace, "bin", name))
          yield* programs.remember(workspaceWrite, workspace)
          yield* programs.remember({ mode: "read-only" }, join(base, "links"))
          const refused = yield* Effect.flip(programs.resolve(name))
          assert.strictEqual(refused.program, name)
          assert.include(refused.searched, join(base, "machine"))
          assert.include(
            refused.message,
            `${workspace}/bin/${name} is refused: it lies in ${workspace}`,
          )
        }),
      ),
  )

  it.live("L15 takes the next one on PATH when the first lies in an additional writable root", () =>
    withPath(["links", "machine"], (programs, base) =>
      Effect.gen(function* () {
        program(join(base, "links"))
        program(join(base, "machine"))
        const policy = { ...workspaceWrite, writable_roots: [join(base, "links")] }
        yield* programs.remember(policy, join(base, "workspace"))
        assert.strictEqual(yield* programs.resolve(name), join(base, "machine", name))
      }),
    ),
  )

  it.live("L15 refuses a link that a command could lead elsewhere, whatever it leads to now", () =>
    withPath(["links"], (programs, base) =>
      Effect.gen(function* () {
        program(join(base, "machine"))
        Fs.symlinkSync(`../machine/${name}`, join(base, "workspace", name))
        Fs.symlinkSync(`../workspace/${name}`, join(base, "links", name))
        yield* programs.remember(workspaceWrite, join(base, "workspace"))
        const { message } = yield* Effect.flip(programs.resolve(name))
        assert.include(message, `leads through ${base}/workspace/${name}`)
      }),
    ),
  )

  it.live("L15 refuses one in a directory for temporary files, or that every user can change", () =>
    withPath(["open", "/tmp"], (programs, base) =>
      Effect.gen(function* () {
        program(join(base, "open"))
        Fs.chmodSync(join(base, "open"), 0o777)
        const planted = join("/tmp", name)
        yield* Effect.acquireRelease(
          Effect.sync(() => program("/tmp")),
          () => Effect.sync(() => Fs.rmSync(planted)),
        )
        const { message } = yield* Effect.flip(programs.resolve(name))
        assert.include(message, `${base}/open/${name} is refused: every user of this machine`)
        assert.include(message, `${planted} is refused: it lies in /tmp`)
      }).pipe(Effect.scoped),
    ),
  )

  it.live("L15 an installed program is refused only where commands can write", () =>
    withPath([], (programs, base) =>
      Effect.gen(function* () {
        program(join(base, "workspace"))
        const installed = join(base, "workspace", name)
        yield* programs.remember({ mode: "read-only" }, join(base, "workspace"))
        assert.strictEqual(yield* programs.resolve(name, installed), installed)
        yield* programs.remember(workspaceWrite, join(base, "workspace"))
        const { refusals } = yield* Effect.flip(programs.resolve(name, installed))
        assert.strictEqual(refusals[0]?.path, installed)
      }),
    ),
  )

  it.live("L15 a configured program is the one at its absolute path, or none", () =>
    withPath(["machine"], (programs, base) =>
      Effect.gen(function* () {
        program(join(base, "machine"))
        program(join(base, "workspace"))
        Fs.symlinkSync(join(base, "machine", name), join(base, "links", name))
        const named = join(base, "machine", name)
        assert.strictEqual(yield* programs.resolveConfigured(name), named)
        assert.strictEqual(yield* programs.resolveConfigured(named), named)
        const linked = join(base, "links", name)
        assert.strictEqual(yield* programs.resolveConfigured(linked), linked)
        yield* programs.remember(workspaceWrite, join(base, "workspace"))
        const reasonOf = (path: string) =>
          Effect.map(Effect.flip(programs.resolveConfigured(path)), ({ refusals }) =>
            refusals.map(({ reason }) => reason).join(),
          )
        assert.strictEqual(
          yield* reasonOf(join(base, "workspace", name)),
          `it lies in ${join(base, "workspace")}, where commands can write`,
        )
        assert.strictEqual(
          yield* reasonOf(`./${name}`),
          "expected an absolute path, or a name to be searched on PATH",
        )
        assert.strictEqual(yield* reasonOf(join(base, "open", name)), "there is no such file")
        Fs.writeFileSync(join(base, "open", "plain"), "text")
        assert.strictEqual(yield* reasonOf(join(base, "open", "plain")), "it is no executable file")
      }),
    ),
  )

  it.live(
    "L15 removes directories that commands can write to from a search path, and keeps its order",
    () =>
      withPath([], (programs, base) =>
        Effect.gen(function* () {
          Fs.symlinkSync("../workspace", join(base, "links", "bin"))
          yield* programs.remember(workspaceWrite, join(base, "workspace"))
          const entries = [
            "/opt/b",
            "",
            "bin",
            `${base}/workspace/bin`,
            `${base}/links/bin`,
            "/opt/a",
          ]
          assert.strictEqual(yield* programs.safeSearchPath(entries.join(":")), "/opt/b:/opt/a")
        }),
      ),
  )

  it.live("L15 removes the target of a link in a writable directory from a search path", () =>
    withPath([], (programs, base) =>
      Effect.gen(function* () {
        Fs.mkdirSync(join(base, "workspace"), { recursive: true })
        Fs.symlinkSync("/usr/bin", join(base, "workspace", "hop"))
        Fs.symlinkSync("../workspace/hop", join(base, "links", "far"))
        yield* programs.remember(workspaceWrite, join(base, "workspace"))
        assert.strictEqual(yield* programs.safeSearchPath(`${base}/links/far:/opt/a`), "/opt/a")
      }),
    ),
  )

  it.live("L15 replaces a search path of which nothing is left by that of the system", () =>
    withPath([], (programs) =>
      Effect.gen(function* () {
        for (const nothing of ["", ":", "bin", "/tmp/bin"]) {
          assert.strictEqual(
            yield* programs.safeSearchPath(nothing),
            "/usr/bin:/bin:/usr/local/bin",
          )
        }
      }),
    ),
  )

  it.live("L15 names the program of the system that lies in a writable root", () =>
    withPath([], (programs, base) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* programs.systemProgramIn(["/usr"]), "/bin/sh")
        assert.isUndefined(yield* programs.systemProgramIn([base, "/"]))
      }),
    ),
  )

  it.live("looks at the directory of a further turn without the thread pool, part by part", () =>
    Effect.gen(function* () {
      const base = yield* baseDirectory
      const seen: Array<string> = []
      const programs = yield* TrustedPrograms.make({
        environment: {},
        calls: {
          mounts: pathCalls.mounts,
          lookNow: (path) => {
            seen.push(path)
            return pathCalls.lookNow(path)
          },
          look: (path) => Effect.die(`the thread pool looks at ${path}`),
          realPath: (path) => Effect.die(`the thread pool looks at ${path}`),
        },
      }).pipe(Effect.provide(NodeServices.layer))
      const workspace = join(base, "workspace")
      yield* programs.remember({ mode: "read-only" }, workspace)
      const parts = workspace.split("/").slice(1)
      const expected = parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}`)
      assert.deepStrictEqual(seen.splice(0), expected)
      yield* programs.remember({ mode: "read-only" }, workspace)
      assert.deepStrictEqual(seen, expected)
    }).pipe(Effect.scoped),
  )

  it.live("takes few operations to remember the directories of a further turn", () =>
    withPath([], (programs, base) =>
      Effect.gen(function* () {
        const scheduler = new CountingScheduler()
        const remember = Effect.provideService(
          programs.remember(workspaceWrite, join(base, "workspace")),
          Scheduler.Scheduler,
          scheduler,
        )
        yield* remember
        scheduler.operations = 0
        yield* remember
        assert.isAtMost(scheduler.operations, 1.1 * 10)
      }),
    ),
  )

  it.live("L15 remembers where a link leads in each turn", () =>
    withPath(["machine"], (programs, base) =>
      Effect.gen(function* () {
        program(join(base, "machine"))
        const link = join(base, "links", "workspace")
        Fs.symlinkSync("../workspace", link)
        yield* programs.remember({ mode: "read-only" }, link)
        assert.strictEqual(yield* programs.resolve(name), join(base, "machine", name))
        Fs.rmSync(link)
        Fs.symlinkSync("../machine", link)
        yield* programs.remember({ mode: "read-only" }, link)
        yield* Effect.flip(programs.resolve(name))
      }),
    ),
  )
})
