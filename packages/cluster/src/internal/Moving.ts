/** Which failures say that the conversation is on another node, or on its way there. Pure. */
import {
  ConversationUnavailable,
  isUnwritable,
  ManagerClosed,
} from "@colloquy/core/ConversationErrors"
import type { ListenerEnd } from "@colloquy/core/listeners/Listener"
import { LeaseHeld, LeaseLost } from "@colloquy/core/StoreErrors"
import { Elsewhere, NodeUnreachable } from "../NodeErrors.ts"

/**
 * What a failure of this process's manager says about where the conversation is; undefined for any other failure. Whatever
 * failed with it had no effect.
 */
export const elsewhereOf = (id: string, error: unknown): Elsewhere | undefined => {
  if (error instanceof Elsewhere) return error
  if (error instanceof ManagerClosed) return new Elsewhere({ id })
  if (error instanceof LeaseHeld) return new Elsewhere({ id, held: error })
  if (!(error instanceof ConversationUnavailable)) return undefined
  const { because } = error
  if (because instanceof LeaseHeld) return new Elsewhere({ id, held: because })
  if (because instanceof ManagerClosed) return new Elsewhere({ id })
  return because instanceof LeaseLost ? new Elsewhere({ id }) : undefined
}

/** True where the call is to be repeated, as the conversation is or may be on another node. */
export const isMoving = (error: unknown): error is Elsewhere | NodeUnreachable =>
  error instanceof Elsewhere || error instanceof NodeUnreachable

/** True where the owner of the conversation cannot use it yet, because another process has its lease. */
export const heldElsewhere = (error: unknown): error is Elsewhere =>
  error instanceof Elsewhere && error.held !== undefined

/** True where no node can say the state of the conversation now, but its log can. */
export const isRecorded = (error: unknown): boolean =>
  heldElsewhere(error) || error instanceof NodeUnreachable || isUnwritable(error)

/** How a listener ended, or that its conversation moves. */
export type SourceEnd = ListenerEnd | Elsewhere
