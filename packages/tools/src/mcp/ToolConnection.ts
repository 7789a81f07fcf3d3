/**
 * A connection to one started tool server, independent of its transport. It separates a server's lifecycle
 * (`ToolServer`) from its wire (`McpConnection`): no I/O and no `effect/ai` here, which is loaded only where servers
 * are configured.
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

/** Puts a server's question (`elicitation/create`) to a person. Never fails; interrupted when the server is gone. */
export type Ask = (request: Elicitation) => Effect.Effect<ElicitationAnswer>

/** How far a call is, as its server says. */
export interface ProgressReport {
  /** How much is done, in a unit of the server's. */
  readonly progress: number
  /** How much there is to do, in the same unit. */
  readonly total?: number
  /** What the server says of it to people. */
  readonly message?: string
}

/** A connection to a started tool server. */
export interface ToolConnection {
  /** Its tools as listed at the start; names are unique. */
  readonly tools: ReadonlyArray<ServerTool>
  /**
   * Calls a tool, without time limit. An interrupt cancels the call at the server. `progress` gets what the server reports
   * until the call ends; without it the server is not asked to report.
   */
  readonly call: (
    tool: string,
    args: Readonly<Record<string, unknown>> | undefined,
    progress?: (report: ProgressReport) => void,
  ) => Effect.Effect<CallResult, ToolServerError>
  /** Sends any request, without time limit. Resolves with its result; an interrupt cancels it at the server. */
  readonly request: (
    method: string,
    params: Readonly<Record<string, unknown>>,
  ) => Effect.Effect<CallResult, ToolServerError>
  /** Resolves with the reason when the server is gone. */
  readonly ended: Effect.Effect<string>
  /** True as soon as `ended` can resolve. */
  readonly isOver: () => boolean
}
