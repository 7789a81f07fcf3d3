/** What the handlers of `tasks/*` share: who may ask, and how they are refused. The error mapping of tasks. */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Revision } from "@colloquy/protocol/mcp/Revisions"
import { tasksExtension } from "@colloquy/protocol/mcp/Tasks"
import * as Effect from "effect/Effect"
import type { TooManyTasks } from "../../tasks/TaskBook.ts"
import type { UnknownTask } from "../../tasks/TaskTable.ts"
import type { Members, RequestContext } from "../RequestContext.ts"

/** What a client of 2026-07-28 declares in a request that may be answered with a task, and in all about tasks. */
export const tasksCapability: Members = { extensions: { [tasksExtension]: {} } }

/** First revision whose clients ask for tasks, and the only one so far. */
const since = "2025-11-25"

export const supportsTasks = (agreed: Revision): boolean => agreed >= since

/** Tasks are what the client asks for: one that has agreed on that revision. */
export const clientRequestsTasks = ({ client, era, revision }: RequestContext): boolean =>
  era === "handshake" && client.info !== undefined && supportsTasks(revision)

/** In 2025-11-25 the server's declaration is enough. */
export const requireTasks = ({
  era,
  requires,
}: RequestContext): Effect.Effect<void, JsonRpcError> =>
  era === "stateless" ? requires(tasksCapability) : Effect.void

export const invalidParams = (message: string): JsonRpcError =>
  new JsonRpcError({ code: ErrorCode.invalidParams, message: `Invalid params: params.${message}` })

/** The same words for a task that never was, one that has expired and one of somebody else. */
export const unknownTask = ({ message }: UnknownTask): Effect.Effect<never, JsonRpcError> =>
  Effect.fail(invalidParams(message))

export const tooManyTasks = ({ message }: TooManyTasks): JsonRpcError =>
  new JsonRpcError({ code: ErrorCode.serverError, message })
