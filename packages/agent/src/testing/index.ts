/** `Agent` with what tests of an agent need: `import { Agent } from "@colloquy/agent/testing"`. */
export * as Agent from "./TestAgent.ts"
