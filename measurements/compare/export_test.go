package compare

// Raced is raced for the tests outside the package.
const Raced = raced
