/**
 * Execution providers of ONNX Runtime: `cpu`, or a device with `cuda` and `tensorrt` (NVIDIA), `webgpu` (any GPU with a
 * driver for Vulkan, Metal or Direct3D), `coreml` (Apple), `dml` (DirectML on Windows).
 *
 * Source: https://onnxruntime.ai/docs/execution-providers
 */
export const PROVIDERS = ['cpu', 'cuda', 'tensorrt', 'webgpu', 'coreml', 'dml'] as const
export type Provider = (typeof PROVIDERS)[number]

/** A preferred provider that could not be used. */
export interface RefusedProvider {
  readonly provider: Provider
  readonly why: string
}

/** The provider of an open session, and the providers preferred to it that failed. */
export interface ProviderChoice {
  readonly provider: Provider
  readonly refused: readonly RefusedProvider[]
}

export const ON_CPU: ProviderChoice = { provider: 'cpu', refused: [] }
