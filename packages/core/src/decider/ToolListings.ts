/**
 * What a conversation decides about `list_mcp_tools`: its answer carries the id of the submission and comes when the
 * servers have answered, in the middle of a turn or without one (§4.6). No turn's end touches it. Pure.
 */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import { SubmissionRefused } from "../ConversationErrors.ts"
import type { State } from "./State.ts"
import { type Decision, type InputOf, nothing } from "./Decision.ts"

/** At the same time: some clients look; each may start the same servers, so more of them learn nothing. */
const maxListings = 4

/** The servers are asked. */
export const startListing = (state: State, id: SubmissionId): Decision => {
  const listings = state.listings ?? []
  return listings.length >= maxListings
    ? {
        ...nothing(state),
        refused: new SubmissionRefused({
          reason: "TooManyListings",
          message: `${maxListings} lists of tools are being made already, which is the limit`,
        }),
      }
    : {
        ...nothing({ ...state, listings: [...listings, id] }),
        actions: [{ _tag: "ListTools", id }],
        receipt: { id, disposition: "none" },
      }
}

/** The servers have answered. */
export const finishListing = (state: State, { id, tools }: InputOf<"Listed">): Decision => {
  const { listings = [], ...rest } = state
  if (!listings.includes(id)) return nothing(state)
  const others = listings.filter((other) => other !== id)
  return {
    ...nothing(others.length === 0 ? rest : { ...rest, listings: others }),
    events: [{ id, msg: { type: "mcp_list_tools_response", tools } }],
  }
}
