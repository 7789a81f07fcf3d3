/** Testing. */
export * from "../Agent.ts"
export * from "./ScriptedModel.ts"
