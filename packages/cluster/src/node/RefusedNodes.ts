/**
 * Finds nodes whose process has ended without a word: their machine refuses connections. The others take over long
 * before the heartbeat of the node is too old. A machine that does not answer at all proves nothing; its heartbeat decides.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type { RunnerAddress } from "effect/cluster/RunnerAddress"
import { RunnerStorage } from "effect/cluster/RunnerStorage"
import { ShardingConfig } from "effect/cluster/ShardingConfig"
import { connect } from "node:net"

const interval = Schedule.spaced("1 second")

/** Longer than a connection takes whose machine answers. */
const patienceMs = 1000

/** What a machine answers to a connection. */
type Answer = "accepted" | "refused" | "unknown"

const answerOf = ({ host, port }: RunnerAddress): Effect.Effect<Answer> =>
  Effect.callback<Answer>((resume) => {
    const socket = connect({ host, port, timeout: patienceMs })
    const end = (answer: Answer) => {
      socket.destroy()
      resume(Effect.succeed(answer))
    }
    socket.on("connect", () => end("accepted"))
    socket.on("timeout", () => end("unknown"))
    socket.on("error", (error) =>
      end("code" in error && error.code === "ECONNREFUSED" ? "refused" : "unknown"),
    )
    return Effect.sync(() => socket.destroy())
  })

/** Looks for such nodes for ever, and marks them: they own nothing until they respond to the checks of the cluster again. */
export const watch: Effect.Effect<never, never, RunnerStorage | ShardingConfig> = Effect.gen(
  function* () {
    const storage = yield* RunnerStorage
    const { runnerAddress } = yield* ShardingConfig
    const self = Option.getOrUndefined(runnerAddress)
    const isOther = ({ host, port }: RunnerAddress) => host !== self?.host || port !== self.port
    const check = Effect.gen(function* () {
      const runners = yield* storage.getRunners
      for (const [{ address }, isHealthy] of runners) {
        if (!isHealthy || !isOther(address)) continue
        if ((yield* answerOf(address)) !== "refused") continue
        yield* Effect.logWarning(
          `the node at ${address.host}:${address.port} accepts no connections: others take over what it has`,
        )
        yield* storage.setRunnerHealth(address, false)
      }
    })
    return yield* check.pipe(
      // While the database cannot be reached no node owns anything.
      Effect.catch((error) => Effect.logDebug("nodes were not looked after", error)),
      Effect.repeat(interval),
      Effect.andThen(Effect.never),
    )
  },
)
