/** `listConversations`: one page, newest first. A cursor that cannot be read counts as none, as in the original. */
import { ConversationsView } from "../../ConversationsView.ts"
import type { ListConversations } from "@colloquy/protocol/app/Conversations"
import { present } from "@colloquy/protocol/app/Fields"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"
import { internal } from "../AppErrors.ts"

/** That of the original. */
const defaultPageSize = 25
/** The original reads no more files for one page. */
const maxPageSize = 100

/** Editors put what the person is looking at before this line, and the message after it. */
const marker = "## My request for Codex:"

/** The beginning of the first message, without what an editor put before it. */
const previewOf = (text: string): string => {
  const at = text.indexOf(marker)
  return at === -1 ? text : text.slice(at + marker.length).trim()
}

type Page = Effect.Success<ReturnType<ConversationsView["Service"]["list"]>>

const itemOf = ({ createdAtMs, id, path, preview = "" }: Page["items"][number]) => ({
  conversationId: id,
  ...(path === undefined ? {} : { path }),
  preview: previewOf(preview),
  timestamp: DateTime.formatIso(DateTime.makeUnsafe(createdAtMs)),
})

/** Handler of the method. */
export const listConversations: AppHandler<typeof ListConversations> = Effect.fnUntraced(
  function* (params) {
    const { cursor, pageSize = defaultPageSize } = present(params)
    if (pageSize === 0) return { items: [] }
    const manager = yield* ConversationsView
    const query = { limit: Math.min(pageSize, maxPageSize), withPreview: true }
    const page = manager.list({ ...query, ...(cursor === undefined ? {} : { cursor }) }).pipe(
      Effect.catchTag("BadCursor", () => manager.list(query)),
      Effect.mapError(({ message }) => internal(`failed to list conversations: ${message}`)),
    )
    const { items, nextCursor } = yield* page
    return {
      items: items.map(itemOf),
      ...(nextCursor === undefined ? {} : { nextCursor }),
    }
  },
)
