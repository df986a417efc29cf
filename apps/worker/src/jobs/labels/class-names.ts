/** Longest name of a class, in characters. */
export const MAX_CLASS_NAME = 100
export const WITHOUT_CLASS = `Examples without a class, or with one of more than ${MAX_CLASS_NAME} characters or with control characters, were left out.`
