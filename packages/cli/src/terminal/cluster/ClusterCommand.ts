/** The command line of `cluster`: servers that share their conversations. */
import type { ConfigTree } from "@colloquy/config/ConfigTree"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { oneLine } from "@colloquy/protocol/text/Shortened"
import { CommandFailed } from "../CommandFailed.ts"
import { ExitCode } from "../ExitCode.ts"
import { launchOf } from "../LaunchCommand.ts"
import { withConfiguration } from "../WithServices.ts"

/** The keys of the table `cluster`. */
const configured = Effect.fnUntraced(function* (tree: ConfigTree) {
  const { clusterOptions } = yield* Effect.promise(() => import("../../args/ClusterOptions.ts"))
  return yield* Effect.mapError(
    Effect.fromResult(clusterOptions(tree)),
    ({ message }) => new CommandFailed({ message: `error loading config: ${oneLine(message)}` }),
  )
})

const status = Command.make(
  "status",
  {
    database: Argument.String("database").pipe(
      Argument.withDescription("postgres://…; default: cluster.database of the configuration"),
      Argument.optional,
    ),
    json: Flag.Boolean("json").pipe(
      Flag.withDescription("Print JSON"),
      Flag.withoutNegation,
      Flag.withDefault(false),
    ),
  },
  Effect.fnUntraced(function* ({ database, json }) {
    const { status: run } = yield* Effect.promise(() => import("./ClusterStatus.ts"))
    const exitCode = yield* ExitCode
    yield* withConfiguration(yield* launchOf, ({ startup }) =>
      Effect.gen(function* () {
        const named = Option.isSome(database)
          ? database.value
          : (yield* configured(startup.source.tree))?.database
        yield* Effect.provideService(run(named, json), ExitCode, exitCode)
      }),
    )
  }),
).pipe(
  Command.withDescription(
    "Print the nodes with their shards, conversations and turns; exit code 1 if none lives",
  ),
)

/** The command. */
export const clusterCommand = Command.make("cluster").pipe(
  Command.withDescription("Show the servers that share conversations"),
  Command.withSubcommands([status]),
)
