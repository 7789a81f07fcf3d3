/** `npm run fuzz -- --seed S --inputs N --edge NAME`. */
import { edges } from "./edges/Edges.ts"

for (const { name, summary } of edges) process.stdout.write(`${name}  ${summary}\n`)
