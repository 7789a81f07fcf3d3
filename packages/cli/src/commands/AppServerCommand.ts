/** The command `app-server`: serves conversations over plain JSON-RPC on stdin and stdout until the client disconnects. */
import { AppServer as AppServerDialect } from "@colloquy/protocol/app/AppServer"
import * as AppServer from "@colloquy/server/AppServer"
import * as Application from "../Application.ts"
import type { Launch } from "../args/Args.ts"
import { findDialect } from "../server/FindDialect.ts"
import * as StdioServer from "../server/StdioServer.ts"
import { userAgent } from "../server/UserAgent.ts"

/** Resolves with the exit code if the server could not start; otherwise the process ends. */
export const run = (launch: Launch): Promise<number> =>
  StdioServer.run((connection, serving) => {
    const { compatibility_version: compatibility, shutdown_grace_ms: graceMs } =
      serving.startup.options
    return AppServer.serve(connection, {
      userAgent: userAgent(process.env, compatibility),
      findDialect: findDialect(AppServerDialect.name),
      ...(graceMs === undefined ? {} : { shutdownGrace: graceMs }),
    }).pipe(Application.provided({ originator: "colloquy_app_server", source: "vscode" }, serving))
  }, launch)
