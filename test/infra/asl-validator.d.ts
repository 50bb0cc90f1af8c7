declare module 'asl-validator' {
  export default function aslValidator(
    definition: object,
    options?: { readonly checkArn?: boolean; readonly checkPaths?: boolean },
  ): { readonly isValid: boolean; errorsText(separator: string): string };
}
