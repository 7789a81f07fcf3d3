/** Who may use a conversation: the check that each use of the manager on behalf of one owner passes. Pure. */
import type { Access } from "../ConversationManager.ts"

/** Whether the conversation may be used. Without `access`, as an embedding program calls, every conversation may. */
export const isVisible = (
  { owner }: { readonly owner?: string },
  access: Access | undefined,
): boolean => access === undefined || access.owner === (owner ?? null)
