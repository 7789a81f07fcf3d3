/**
 * The package `colloquy` as a library: an agent in a program of one's own. The packages `@colloquy/*` beneath have the
 * rest.
 *
 * ```ts
 * import { Agent } from "colloquy"
 * ```
 */
export { Agent } from "@colloquy/agent"
export type * from "@colloquy/protocol/EventMsg"
