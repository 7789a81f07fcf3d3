/**
 * What one started tool server can do, whatever reaches it. The seam between a server's life (`ToolServer`) and its
 * wire (`McpConnection`): no I/O and no `effect/ai` here, which is loaded only where servers are configured.
 */
import type { Elicitation, ElicitationAnswer } from "@colloquy/core/approvals/Approval"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { ServerTool } from "./ServerTools.ts"
import type { CallResult } from "./ToolOutput.ts"

/** A server could not be started or a call gave no result. `message` is for the model and for people. */
export class ToolServerError extends Schema.TaggedError<ToolServerError>()("ToolServerError", {
  message: Schema.String,
}) {}

/** Puts a server's question (`elicitation/create`), bounded in size, to a person. Never fails; interrupted when the server is gone. */
export type Ask = (request: Elicitation) => Effect.Effect<ElicitationAnswer>

export interface ToolConnection {
  /** As listed at the start; names are unique. */
  readonly tools: ReadonlyArray<ServerTool>
  /** Waits without a limit of its own. Interrupted, it tells the server. */
  readonly call: (
    tool: string,
    args: Readonly<Record<string, unknown>> | undefined,
  ) => Effect.Effect<CallResult, ToolServerError>
  /** Waits until the server is gone; gives why. */
  readonly ended: Effect.Effect<string>
  /** True from the moment on at which `ended` can be known. */
  readonly isOver: () => boolean
}
