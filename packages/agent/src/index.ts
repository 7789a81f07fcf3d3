/** An agent in a program of yours: `import { Agent } from "@colloquy/agent"`. */
export * as Agent from "./Agent.ts"
