/**
 * `Agent` with what tests of an agent need: a scripted model, and turns that settle by themselves on the virtual clock.
 *
 * ```ts
 * import { Agent } from "colloquy/testing"
 * ```
 */
export * as Agent from "@colloquy/agent/testing/TestAgent"
