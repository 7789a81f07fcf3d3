/** What the handlers of `tasks/*` share: which clients may use them, and how errors of tasks are sent. */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { tasksExtension } from "@colloquy/protocol/mcp/Extensions"
import * as Effect from "effect/Effect"
import type { TooManyTasks } from "../../tasks/TaskBook.ts"
import type { UnknownTask } from "../../tasks/TaskTable.ts"
import type { Members, RequestContext } from "../RequestContext.ts"
import { supportsTasks } from "../ServerCapabilities.ts"

/** The capability that a client of 2026-07-28 declares in `tools/call`, to accept a task, and in every `tasks/*` request. */
export const tasksCapability: Members = { extensions: { [tasksExtension]: {} } }

/** Whether the client requests tasks itself, because `initialize` agreed on a revision that has them. */
export const clientRequestsTasks = ({ client, era, revision }: RequestContext): boolean =>
  era === "handshake" && client.info !== undefined && supportsTasks(revision)

/** Fails unless a stateless client declares tasks. In 2025-11-25 the server's declaration is enough. */
export const requireTasks = ({
  era,
  requires,
}: RequestContext): Effect.Effect<void, JsonRpcError> =>
  era === "stateless" ? requires(tasksCapability) : Effect.void

/** The error for an invalid parameter; `message` begins with its name. */
export const invalidParams = (message: string): JsonRpcError =>
  new JsonRpcError({ code: ErrorCode.invalidParams, message: `Invalid params: params.${message}` })

/** The same error for a task that never existed, one that has expired and one of another principal (L13). */
export const unknownTask = ({ message }: UnknownTask): Effect.Effect<never, JsonRpcError> =>
  Effect.fail(invalidParams(message))

/** The error when there is no room for one more task. */
export const tooManyTasks = ({ message }: TooManyTasks): JsonRpcError =>
  new JsonRpcError({ code: ErrorCode.serverError, message })
