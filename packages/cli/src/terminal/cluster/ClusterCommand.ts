/** The command line of `cluster`: servers that share their conversations. */
import * as ConfigTree from "@colloquy/config/ConfigTree"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { ExitCode } from "../ExitCode.ts"
import { launchOf } from "../LaunchCommand.ts"
import { withConfiguration } from "../WithServices.ts"

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
    yield* withConfiguration(yield* launchOf, ({ startup }) => {
      const configured = ConfigTree.get(startup.source.tree, "cluster.database")
      const named = typeof configured === "string" ? configured : undefined
      return Effect.provideService(
        run(
          Option.getOrElse(database, () => named),
          json,
        ),
        ExitCode,
        exitCode,
      )
    })
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
