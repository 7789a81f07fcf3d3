/** `resources/unsubscribe`: ends the notifications about a resource. Succeeds also without a subscription. */
import type { ResourcesUnsubscribe as ResourcesUnsubscribeMethod } from "@colloquy/protocol/mcp/Resources"
import type { Params } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { CoreHandler } from "../RequestContext.ts"
import type { Subscriptions } from "../catalog/Subscriptions.ts"

type Method = typeof ResourcesUnsubscribeMethod

/** The handler of `resources/unsubscribe` of one connection. */
export const resourcesUnsubscribe =
  (subscriptions: Subscriptions): CoreHandler<Params<Method>, object> =>
  ({ uri }) =>
    Effect.as(subscriptions.unsubscribe(uri), {})
