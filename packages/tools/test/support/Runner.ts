/** The command runner of a test: the only one of its process, so the turns to start are its own. */
import * as Layer from "effect/Layer"
import { CommandRunner } from "../../src/process/CommandRunner.ts"
import { StartTurns } from "../../src/process/StartTurns.ts"

/** Provides the runner with the process groups of this machine. */
export const runnerLayer = Layer.provide(CommandRunner.layer, StartTurns.layer)
