import type { CompletedTurn } from "@colloquy/core/decider/CompletedTurn"
import { ConversationId } from "@colloquy/protocol/Ids"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Fs from "node:fs"
import { join } from "node:path"
import { notificationText } from "../../src/notify/NotificationText.ts"
import * as NotifyProgram from "../../src/notify/NotifyProgram.ts"
import { CommandRunner } from "../../src/process/CommandRunner.ts"
import { runnerLayer } from "../support/Runner.ts"
import { TrustedPrograms } from "../../src/programs/TrustedPrograms.ts"

const turn: CompletedTurn = {
  conversationId: ConversationId.make("00000000-0000-7000-8000-000000000001"),
  turnId: "0",
  cwd: "/work",
  inputMessages: ["question"],
  lastAgentMessage: "answer",
}

/** A directory that is not below the one for temporary files, where no program is trusted. */
const baseDirectory = Effect.acquireRelease(
  Effect.sync(() => {
    const base = Fs.realpathSync(Fs.mkdtempSync("/var/tmp/colloquy-notify-"))
    for (const directory of ["programs", "workspace", "planted"])
      Fs.mkdirSync(join(base, directory))
    return base
  }),
  (base) => Effect.sync(() => Fs.rmSync(base, { recursive: true })),
)

const variables = { OPENAI_API_KEY: "sk-1", MY_KEY: "sk-2", DISPLAY: ":0", MY_TOKEN: "token" }

const script = (path: string, body: string): string => {
  Fs.writeFileSync(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 })
  return path
}

interface Stage {
  readonly base: string
  readonly programs: TrustedPrograms["Service"]
  readonly notify: (
    ...command: readonly [string, ...ReadonlyArray<string>]
  ) => Effect.Effect<void, NotifyProgram.NotifyFailed>
}

const staged = <A, E>(test: (stage: Stage) => Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const base = yield* baseDirectory
    const environment = { ...variables, PATH: `${join(base, "planted")}:/usr/bin:/bin` }
    const services = runnerLayer.pipe(
      Layer.provideMerge(TrustedPrograms.layer({ environment })),
      Layer.provide(NodeServices.layer),
    )
    return yield* Effect.gen(function* () {
      const programs = yield* TrustedPrograms
      const runner = yield* CommandRunner
      const parts = {
        programs,
        runner,
        environment,
        secretNames: ["MY_KEY"],
        cwd: join(base, "workspace"),
      }
      return yield* test({
        base,
        programs,
        notify: (...command) => NotifyProgram.run(parts, command, turn),
      })
    }).pipe(Effect.provide(services))
  }).pipe(Effect.scoped)

describe("NotifyProgram", () => {
  it.live("gets its own arguments, the JSON text last, and nothing on its input", () =>
    staged(({ base, notify }) =>
      Effect.gen(function* () {
        const out = join(base, "out")
        const path = script(
          join(base, "programs", "notify"),
          `{ pwd; cat; for word in "$@"; do printf '%s\\n' "$word"; done; } > ${out}`,
        )
        yield* notify(path, "first word", "second")
        assert.deepStrictEqual(Fs.readFileSync(out, "utf8").split("\n"), [
          join(base, "workspace"),
          "first word",
          "second",
          notificationText(turn),
          "",
        ])
      }),
    ),
  )

  it.live("L15 gets the variables of the session, and no key of a provider", () =>
    staged(({ base, notify, programs }) =>
      Effect.gen(function* () {
        const out = join(base, "out")
        const path = script(join(base, "programs", "notify"), `env > ${out}`)
        const planted = join(base, "planted")
        yield* programs.remember({ mode: "workspace-write", writable_roots: [planted] }, "/")
        yield* notify(path)
        const env = Fs.readFileSync(out, "utf8")
        assert.include(env, "DISPLAY=:0\n")
        assert.include(env, "MY_TOKEN=token\n")
        assert.notInclude(env, "sk-")
        assert.match(env, /^PATH=\/usr\/bin:\/bin$/m)
      }),
    ),
  )

  it.live(
    "L15 is not started from where commands can write, and nothing is started in its place",
    () =>
      staged(({ base, notify, programs }) =>
        Effect.gen(function* () {
          const ran = join(base, "ran")
          const workspace = join(base, "workspace")
          yield* programs.remember({ mode: "workspace-write" }, workspace)
          const planted = script(join(workspace, "true"), `touch ${ran}`)
          const { message } = yield* Effect.flip(notify(planted))
          assert.strictEqual(
            message,
            `no trustworthy ${planted} was found; ${planted} is refused: it lies in ${workspace}, where commands can write`,
          )
          assert.isFalse(Fs.existsSync(ran))
        }),
      ),
  )

  it.live("L13 fails with the reason when the program does, or cannot be started", () =>
    staged(({ base, notify }) =>
      Effect.gen(function* () {
        const fails = script(join(base, "programs", "fails"), "echo noise; exit 3")
        assert.strictEqual(
          (yield* Effect.flip(notify(fails))).message,
          `${fails} ended with exit code 3`,
        )
        const killed = script(join(base, "programs", "killed"), "kill -9 $$")
        assert.strictEqual(
          (yield* Effect.flip(notify(killed))).message,
          `${killed} was ended by SIGKILL`,
        )
        assert.match((yield* Effect.flip(notify("colloquy-no-such-program"))).message, /^no trust/)
      }),
    ),
  )

  it.live.skipIf(!Fs.existsSync("/proc/self/stat"))(
    "L8 is ended with everything that it started when the fiber is interrupted",
    () =>
      staged(({ base, notify }) =>
        Effect.gen(function* () {
          const out = join(base, "pid")
          const path = script(
            join(base, "programs", "notify"),
            `setsid sleep 61 & echo $! > ${out}; sleep 61`,
          )
          const written = Effect.gen(function* () {
            while (!Fs.existsSync(out) || Fs.readFileSync(out, "utf8") === "") {
              yield* Effect.sleep("10 millis")
            }
          })
          yield* Effect.raceFirst(notify(path), written)
          const pid = Number(Fs.readFileSync(out, "utf8"))
          const stat = `/proc/${pid}/stat`
          const lives = () => Fs.existsSync(stat) && !/\) Z /.test(Fs.readFileSync(stat, "utf8"))
          assert.isFalse(lives())
        }),
      ),
  )
})
