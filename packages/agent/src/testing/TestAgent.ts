/** Testing. */
export * from "../Agent.ts"
