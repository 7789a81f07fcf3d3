/** `thread/resume`: subscribes to a thread, loads it if necessary, and applies the settings that are given. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Params } from "@colloquy/protocol/Method"
import type { ThreadResume } from "@colloquy/protocol/thread/Threads"
import * as Effect from "effect/Effect"
import { ConversationsView } from "../../ConversationsView.ts"
import { pathFaultOf, pathFaultText } from "../../app/StoredPaths.ts"
import { invalid } from "../../app/AppErrors.ts"
import { overrideThread } from "../OverrideThread.ts"
import { describe, find, historyOf, stateOf, type ThreadHandler } from "../ThreadCall.ts"
import { cannotAttach, cannotGet, noRollout, notServed } from "../ThreadErrors.ts"
import { viewed } from "../ThreadHistory.ts"
import { collaborationOf, withSettings } from "../ThreadObjects.ts"
import { pageOf } from "../ThreadPages.ts"

const open = Effect.fnUntraced(function* ({
  path,
  threadId,
}: Params<typeof ThreadResume>): Effect.fn.Return<Conversation, JsonRpcError, ConversationsView> {
  if (path == null) return yield* find(threadId, noRollout)
  const conversations = yield* ConversationsView
  return yield* Effect.mapError(conversations.open(path), (error) => {
    const fault = pathFaultOf("path", path, error)
    return fault === undefined
      ? cannotGet(threadId, error, noRollout)
      : invalid(pathFaultText(fault), { issues: [fault] })
  })
})

/** Handler of the method. */
export const threadResume: ThreadHandler<typeof ThreadResume> = Effect.fnUntraced(
  function* (params, call) {
    const { connection } = call
    if (params.history != null) return yield* notServed("`history`")
    const conversation = yield* open(params)
    const { id } = conversation
    yield* overrideThread(conversation, params)
    connection.registry.loaded(id)
    const state = yield* stateOf(conversation)
    const history = yield* historyOf(id, call)
    const turns = params.excludeTurns === true ? [] : history.turns
    const thread = yield* describe(id, { history, state, turns }, call)
    yield* Effect.mapError(connection.subscribe({ conversation, history }, call), cannotAttach)
    const page = params.initialTurnsPage
    const view = page?.itemsView ?? "summary"
    const newest = history.turns.at(-1)
    return {
      ...withSettings(thread, state.settings),
      collaborationMode: collaborationOf(state.settings),
      initialTurnsPage:
        page == null
          ? null
          : yield* pageOf(
              history.turns.map((turn) => viewed(turn, view)),
              { ...page, sortDirection: page.sortDirection ?? "desc" },
              (turn) => turn.id,
            ),
      turnsBackwardsCursor: newest === undefined ? null : JSON.stringify(newest.id),
      itemsBackwardsCursor: null,
    }
  },
)
