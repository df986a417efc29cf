/** Hours in which the same Idempotency-Key and body give the same job. */
export const IDEMPOTENCY_HOURS = 24
