/** Principals as the owners of their conversations. Pure. */
import type { Owner } from "@colloquy/core/ConversationStore"
import { localPrincipal } from "@colloquy/protocol/Connection"

/** The owner that the conversations of a principal have recorded; those of the local principal have none. */
export const ownerOf = (principal: string): Owner =>
  principal === localPrincipal ? null : principal

/** The principal of an owner. */
export const principalOf = (owner: Owner): string => owner ?? localPrincipal
