/** `fuzzyFileSearch`: as in v1, with the kind of each match. */
import type { FuzzyFileSearch } from "@colloquy/protocol/thread/FileSearch"
import * as Effect from "effect/Effect"
import { fuzzyFileSearch as ofV1 } from "../../../app/methods/FuzzyFileSearch.ts"
import { matchOf } from "../FileMatches.ts"
import type { HostHandler } from "../HostCall.ts"

/** Handler of the method. */
export const fuzzyFileSearch: HostHandler<typeof FuzzyFileSearch> = (params, call) =>
  Effect.map(ofV1(params, call), ({ files }) => ({ files: files.map(matchOf) }))
