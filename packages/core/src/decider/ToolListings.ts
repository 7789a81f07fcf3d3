/**
 * What a conversation decides about `list_mcp_tools`. The response has the id of the submission and follows when the tool
 * servers have responded, during a turn or without one. The end of a turn does not affect it. Pure.
 */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import { SubmissionRefused } from "../ConversationErrors.ts"
import type { State } from "./State.ts"
import { type Decision, type InputOf, nothing } from "./Decision.ts"

/** Listings at the same time. Each may start the same servers, so more of them would have no use. */
const maxListings = 4

/** Requests the tools of the tool servers. */
export const startListing = (state: State, id: SubmissionId): Decision => {
  const listings = state.listings ?? []
  return listings.length >= maxListings
    ? {
        ...nothing(state),
        refused: new SubmissionRefused({
          reason: "TooManyListings",
          message: `${maxListings} listings of tools are running already, which is the limit`,
        }),
      }
    : {
        ...nothing({ ...state, listings: [...listings, id] }),
        actions: [{ _tag: "ListTools", id }],
        receipt: { id, disposition: "none" },
      }
}

/** The tool servers have responded. */
export const finishListing = (state: State, { id, tools }: InputOf<"Listed">): Decision => {
  const { listings = [], ...rest } = state
  if (!listings.includes(id)) return nothing(state)
  const others = listings.filter((other) => other !== id)
  return {
    ...nothing(others.length === 0 ? rest : { ...rest, listings: others }),
    events: [{ id, msg: { type: "mcp_list_tools_response", tools } }],
  }
}
