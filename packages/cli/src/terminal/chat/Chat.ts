export const runChat = null as any
