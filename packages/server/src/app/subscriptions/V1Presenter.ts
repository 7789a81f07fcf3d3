/**
 * The notifications of listeners in the first version of this dialect (packages/docs/wire/app-server.md). A client that
 * named the last event it has is sent the number of every durable event, also of those whose contents it is not sent: a
 * missing number means a lost event. A client of the original is sent no numbers.
 */
import { isEphemeral } from "@colloquy/protocol/EventMsg"
import {
  ConversationClosed,
  ConversationLagged,
  ConversationSkipped,
  ConversationSynced,
  eventNotification,
} from "@colloquy/protocol/app/Events"
import type { ApprovalForm } from "@colloquy/protocol/app/Initialize"
import { appServerEvent } from "../../events/V1Events.ts"
import { presentV1 } from "../questions/V1Approvals.ts"
import { notificationOf, type SubscriptionPresenter } from "./SubscriptionPresenter.ts"

/** @param form the spelling of the approval requests that the client chose, read for each question */
export const v1Presenter = (form: () => ApprovalForm): SubscriptionPresenter => ({
  event: (to, { event: { id, msg, seq } }, format) => {
    const shown = appServerEvent(msg, format)
    const numbered = format.all ? { ...to, seq } : to
    if (shown !== undefined) {
      return [notificationOf(eventNotification(shown.type), { id, msg: shown, ...numbered })]
    }
    return format.all && !isEphemeral(msg)
      ? [notificationOf(ConversationSkipped, { ...to, seq })]
      : []
  },
  lagged: (to, from) => notificationOf(ConversationLagged, { ...to, from }),
  synced: (to, seq) => notificationOf(ConversationSynced, { ...to, seq }),
  closed: (to, reason) =>
    notificationOf(ConversationClosed, reason === undefined ? to : { ...to, reason }),
  present: ({ id }, peer) => presentV1(id, peer, form),
})
