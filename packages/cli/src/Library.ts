/**
 * The package `colloquy` as a library: an agent in a program of one's own. The packages `@colloquy/*` beneath have the
 * rest.
 *
 * ```ts
 * import { Agent } from "colloquy"
 * ```
 */
export * as Agent from "@colloquy/agent/Agent"
export type * from "@colloquy/protocol/EventMsg"
