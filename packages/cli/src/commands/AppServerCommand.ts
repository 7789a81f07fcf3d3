/** The command `app-server`: serves conversations over plain JSON-RPC on stdin and stdout until the client disconnects. */
import * as AppServer from "@colloquy/server/AppServer"
import * as Application from "../Application.ts"
import type { Launch } from "../args/Args.ts"
import { appServerOptions } from "../server/AppServerOptions.ts"
import * as StdioServer from "../server/StdioServer.ts"

/** Resolves with the exit code if the server could not start; otherwise the process ends. */
export const run = (launch: Launch): Promise<number> =>
  StdioServer.run(
    (connection, serving) =>
      AppServer.serve(connection, appServerOptions(serving)).pipe(
        Application.provided({ originator: "colloquy_app_server", source: "vscode" }, serving),
      ),
    launch,
  )
