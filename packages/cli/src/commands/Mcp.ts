/**
 * The command `mcp`: serves the Model Context Protocol, and also the requests of the app-server, on stdin and stdout until
 * the client disconnects.
 */
import { CodexMcp } from "@colloquy/protocol/mcp/CodexMcp"
import { withLazyDialect } from "@colloquy/server/LazyDialect"
import * as McpServer from "@colloquy/server/McpServer"
import * as Effect from "effect/Effect"
import { findDialect } from "../server/FindDialect.ts"
import * as StdioServer from "../server/StdioServer.ts"
import { userAgent } from "../server/UserAgent.ts"
import { statedVersion } from "../server/Version.ts"
import type { Launch } from "../args/Args.ts"

const appServer = (compatibility: string | undefined) =>
  Effect.flatMap(
    Effect.promise(() => import("@colloquy/server/AppServer")),
    ({ beside }) => beside({ userAgent: userAgent(process.env, compatibility) }),
  )

const ofDialect = findDialect(CodexMcp.name)

/** Resolves with the exit code if the server could not start; otherwise the process ends. */
export const run = (launch: Launch): Promise<number> =>
  StdioServer.run(
    {
      program: { originator: "colloquy_mcp", source: "mcp" },
      serve: (connection, startup) => {
        const {
          compatibility_version: compatibility,
          mcp_events: events,
          mcp_task_after_ms: taskAfterMs,
          mcp_thread_id: threadId,
          mcp_tools: tools,
          shutdown_grace_ms: graceMs,
        } = startup.options
        const dialects = withLazyDialect(appServer(compatibility), ofDialect)
        return Effect.flatMap(dialects, (beside) =>
          McpServer.serve(connection, {
            version: statedVersion(compatibility),
            beside,
            findDialect: ofDialect,
            ...(graceMs === undefined ? {} : { shutdownGrace: graceMs }),
            ...(events === undefined ? {} : { events }),
            ...(taskAfterMs === undefined ? {} : { taskAfter: taskAfterMs }),
            ...(threadId === undefined ? {} : { threadId }),
            ...(tools === undefined ? {} : { ownTools: tools }),
          }),
        )
      },
    },
    launch,
  )
