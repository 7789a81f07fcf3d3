/** `gitDiffToRemote`: as in v1. */
import type { GitDiffToRemote } from "@colloquy/protocol/thread/FileSearch"
import { gitDiffToRemote as ofV1 } from "../../../app/methods/GitDiffToRemote.ts"
import type { HostHandler } from "../HostCall.ts"

/** Handler of the method. */
export const gitDiffToRemote: HostHandler<typeof GitDiffToRemote> = (params, call) =>
  ofV1(params, call)
