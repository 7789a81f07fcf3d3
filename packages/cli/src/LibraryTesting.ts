/** `Agent` with what tests of an agent need: `import { Agent } from "colloquy/testing"`. */
export * as Agent from "@colloquy/agent/testing/TestAgent"
