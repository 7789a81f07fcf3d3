/** `resources/unsubscribe`: tells the client of that resource no more; also of one that it never subscribed to. */
import type { ResourcesUnsubscribe as ResourcesUnsubscribeMethod } from "@colloquy/protocol/mcp/Resources"
import type { Params } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { CoreHandler } from "../RequestContext.ts"
import type { Subscriptions } from "../catalog/Subscriptions.ts"

type Method = typeof ResourcesUnsubscribeMethod

export const resourcesUnsubscribe =
  (subscriptions: Subscriptions): CoreHandler<Params<Method>, object> =>
  ({ uri }) =>
    Effect.as(subscriptions.unsubscribe(uri), {})
