/**
 * Matchers for Vitest.
 *
 * ```ts
 * import { matchers } from "colloquy/testing/vitest"
 * expect.extend(matchers)
 * ```
 */
export { matchers } from "@colloquy/agent/testing/vitest"
