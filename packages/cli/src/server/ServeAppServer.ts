/** Serves the app-server with everything that a request after `initialize` needs. */
import type { Connection } from "@colloquy/protocol/Connection"
import * as AppServer from "@colloquy/server/AppServer"
import * as Effect from "effect/Effect"
import * as Application from "../Application.ts"
import { preload } from "../lazy/Preload.ts"
import { appServerOptions } from "./AppServerOptions.ts"
import type { Serving } from "./StdioServer.ts"

/** Serves the connection until its end. */
export const serve = (connection: Connection, serving: Serving): Effect.Effect<void> =>
  Effect.scoped(
    Effect.andThen(
      Effect.forkScoped(preload),
      AppServer.serve(connection, { ...appServerOptions(serving), endsConversations: true }),
    ),
  ).pipe(Application.provided({ originator: "colloquy_app_server", source: "vscode" }, serving))
