/** Lists conversations page by page while they are created and removed, and requests invalid pages. */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import type { Action, BadPage } from "./Plan.ts"

/** The id of an operation on a slot without a conversation; no conversation has it. */
export const noConversation = "none"

type Manager = ConversationManager["Service"]

/** Yields `times` times, so that other fibers can run. */
export const yields = (times: number): Effect.Effect<void> =>
  Effect.forEach(Array.from({ length: times }), () => Effect.yieldNow, { discard: true })

/** The ids on all pages, in order. */
export const pages = (
  manager: Manager,
  { limit, yields: times }: Extract<Action, { readonly do: "pages" }>,
): Effect.Effect<ReadonlyArray<string>, Effect.Error<ReturnType<Manager["list"]>>> =>
  Effect.gen(function* () {
    const ids: Array<string> = []
    let cursor: string | undefined
    do {
      const page = yield* manager.list({ limit, ...(cursor === undefined ? {} : { cursor }) })
      ids.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor
      yield* yields(times)
    } while (cursor !== undefined)
    return ids
  })

const unknownId = "00000000-0000-4000-8000-000000000000"

/** Requests an invalid page. `moved`: the cursor names a position that is not the one of the conversation. */
export const badPage = (manager: Manager, id: string, what: BadPage) => {
  switch (what) {
    case "garbage":
      return manager.list({ cursor: "Z2FyYmFnZQ" })
    case "limit":
      return manager.list({ limit: 0 })
    case "moved":
      return manager.list({
        cursor: Base64Url.encode(`c1:999999:${id === noConversation ? unknownId : id}`),
      })
  }
}
