/** Every behaviour in every revision; each test file runs them over its own transport. */
import { type Revision, revisions } from "@colloquy/protocol/mcp/Revisions"
import type { Behaviour } from "./Behaviour.ts"
import { calls } from "./Calls.ts"
import { features } from "./Features.ts"
import { questions } from "./Questions.ts"
import { tasks } from "./Tasks.ts"

const behaviours: ReadonlyArray<Behaviour> = [...calls, ...questions, ...features, ...tasks]

/** The behaviours that hold in each revision. */
export const suite: ReadonlyArray<{
  readonly revision: Revision
  readonly behaviours: ReadonlyArray<Behaviour>
}> = revisions.map((revision) => ({
  revision,
  behaviours: behaviours.filter(({ applies }) => applies(revision)),
}))
