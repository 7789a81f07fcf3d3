/** The library of this package: `import { Agent } from "colloquy"`. Everything beneath is in the packages `@colloquy/*`. */
export * as Agent from "@colloquy/agent/Agent"
