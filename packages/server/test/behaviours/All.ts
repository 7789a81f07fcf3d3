/** Every behaviour, in every revision: what a test file runs over its own transport. */
import { type Revision, revisions } from "@colloquy/protocol/mcp/Revisions"
import type { Behaviour } from "./Behaviour.ts"
import { calls } from "./Calls.ts"
import { features } from "./Features.ts"
import { questions } from "./Questions.ts"
import { tasks } from "./Tasks.ts"

const behaviours: ReadonlyArray<Behaviour> = [...calls, ...questions, ...features, ...tasks]

/** By revision, those that hold in it. */
export const suite: ReadonlyArray<{
  readonly revision: Revision
  readonly behaviours: ReadonlyArray<Behaviour>
}> = revisions.map((revision) => ({
  revision,
  behaviours: behaviours.filter(({ applies }) => applies(revision)),
}))
